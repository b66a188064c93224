/** Last words of types that need no line in the glossary (docs/architecture.md): they mean what they mean everywhere. */
export const generalWords: ReadonlySet<string> = new Set(
  `access action address agreement answer asked attempt attributes bytes cell check choice code collector column comparison
  condition connect content converter copy count data database difference download encoding end error estimate example export extra
  fact fetch fetcher field file filter finder flag folder format function handler head header id import info input item key kind length
  limit line list listing maker map match name options origin owner package page part path progress question range reader reading reason
  receipt record recorder relation reply request response rule saver service set setting sink span state statement status style table target text tool
  total url use value view watcher word write writer zip`.split(/\s+/),
);
