/** A text as a short quotation for a message. */
export const shortened = (text: string): string =>
  JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
