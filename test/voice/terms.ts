/** A wording that reads as a translation, and the usual one. */
export interface Term {
  /** What not to write. */
  readonly avoid: RegExp;
  /** What to write instead, as a hit names it. */
  readonly use: string;
}

/** The glossary of the project: one word per thing, and the usual one. Checked in everything that users read. */
export const terms: readonly Term[] = [
  {
    avoid: /\b(?<!function )calls?\b(?! (?:back|it|them|the|a|this|our|of)\b)/i,
    use: "request, batch or command",
  },
  { avoid: /(?<!connection )\brefus(?:e|es|ed|al|als|ing)\b/i, use: "reject, deny or fail" },
  { avoid: /(?<![\w.`"{/$<_-])\bids?\b(?![\w`"}/>_=:,)-]|: )/, use: "ID" },
  {
    avoid: /(?<!saved? (?:the )?)\banswer(?:s|ed|ing)?\b(?! (?:yes|saved|are saved))/i,
    use: "response, respond",
  },
  { avoid: /\b(?:is|are) no\b(?! (?:longer|more)\b)/i, use: "is not a" },
  { avoid: /\b[Gg]ive (?:--|a |an |another |it |one |the )/, use: "use, add" },
  { avoid: /\bName (?:a|an|another|the)\b/, use: "choose" },
  { avoid: /\bstands?\b/i, use: "is, appears" },
  { avoid: /\bthere (?:is|are) (?:no|none|nothing)\b/i, use: "not found, unknown, no X yet" },
  { avoid: /\bwhole\b(?! numbers?\b)/i, use: "complete, entire, all" },
  { avoid: /\b(?:go|goes|going|went|gone) on\b/i, use: "resume, continue, keep running" },
  { avoid: /\bt(?:ake|akes|ook|aken|aking) up\b/i, use: "resume" },
  { avoid: /\banew\b/i, use: "again; start over; re-created" },
  { avoid: /\b(?:told|tells?|telling)\b/i, use: "reported, shown, warned about; report, show; determine" },
  { avoid: /\b(?:leave|leaves|left|leaving)(?: \S+)? out\b/i, use: "skip (rows, columns), remove (flags)" },
  {
    avoid:
      /, as (?:it|they|this|that|there|nothing|no|what|its|each|every|some|our)\b(?! (?:was|were|does|do|did)\b)/,
    use: "because",
  },
  { avoid: /\blook(?:s|ed|ing)? at\b/i, use: "view (users), fetch or check (code)" },
  { avoid: /\bgive the (?:same )?command again\b/i, use: "run the command again" },
  {
    avoid:
      /\b(?:requests|writes|reads|rows?|photos|bytes) an? (?:minute|second(?! time)|hour|line|call|page)\b/i,
    use: "per",
  },
  { avoid: /\bmade-up\b|\bfake\b(?! timers\b)|\bservice in memory\b/i, use: "mock service, mock server" },
  { avoid: /\b(?:is|are|was|were) (?:not )?there\b/i, use: "exists, is missing, does not exist" },
  {
    avoid: /\bmay (?:not )?(?:be )?(?:read|see|seen|look)\b/i,
    use: "can(not) read; has (lacks) the scope; permission denied",
  },
  { avoid: /\b(?:nobody|somebody|whoever)\b/i, use: "the actor: the user, another client, the process" },
  { avoid: /\bbeside\b/i, use: "next to, in addition to" },
  {
    avoid: /\b(?:worlds?|story|stories|houses?(?! model)|rooms?(?=s| of))\b/i,
    use: "test environment, scenario, project, module",
  },
  { avoid: /\bwhat became of\b/i, use: "the result of" },
  { avoid: /\bmend(?:s|ed|ing)?\b|\bput(?:s|ting)? \S+ right\b|\bput right\b/i, use: "fix" },
  {
    avoid: /\bon (?:its|their) way\b|\bunder way\b|\bunderway\b/i,
    use: "in flight (requests), in progress (jobs)",
  },
  { avoid: /\bours\b/i, use: "the owner: the CLI, our code, a local file" },
  { avoid: /\bat fault\b/i, use: "invalid; internal error" },
  { avoid: /\bas (?:it|they) stands?\b/i, use: "as is, unchanged" },
  { avoid: /\bput(?:s|ting)? back\b/i, use: "restored to an earlier state" },
  { avoid: /\bin place of\b/i, use: "instead of" },
  { avoid: /\bends? with (?:a status|status|exit|\d)/i, use: "exits with" },
  { avoid: /\bmachine keys?\b/i, use: "API key" },
  { avoid: /\bbr(?:ing|ings|inging|ought) in\b/i, use: "import" },
  { avoid: /\bin doubt\b|\bnothing was heard\b/i, use: "unconfirmed, no response for" },
  { avoid: /\bdo(?:es)? not validate\b/i, use: "invalid" },
  { avoid: /\bdid not make it\b/i, use: "failed" },
  { avoid: /(?<!credits )\b(?:ran|runs|run) out\b(?! of credits)/i, use: "timed out" },
];
