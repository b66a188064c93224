// Dates as spreadsheets and programs show them, in the languages of shops.

/** Names of months; those that are as likely other words are left out. */
const months: ReadonlySet<string> = new Set(
  (
    "jan january januar janv ene feb february februar fév févr febr fev mar march mär mrz märz mars mrt mart márc apr april avr abr áp ápr nis oca şub sty lut kwi úno bře " +
    "may mai mei maj máj maio mayo jun june juni juin giu haz cze čvn tem čvc lip jul july juli juil lug aug august ago août ağu sep sept september szept eyl sie srp wrz zář " +
    "oct october okt oktober ott eki paź říj nov november kas lis ara gru dec december dez dezember dic déc янв фев мар апр май июн июл авг сен окт ноя дек"
  ).split(" "),
);

const separators = /[-./, ]+/;
const clock = /[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const yearFirst = /^(?:19|20)\d{2}([-./])(\d{1,2})\1(\d{1,2})$/;
const yearLast = /^(\d{1,2})([-./])(\d{1,2})\2((?:19|20)\d{2}|\d{2})$/;
const ofScript = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d{2} \d{4}\b/;
const eastern = /^(?:\d{4}年)?\d{1,2}月(?:\d{1,2}日)?$/;
/** A month or a day alone, or with a space; programs write 01. Mrz. */
const asPeopleWrite = /^(?!0\d\. \S+$).* |月$/;
const longestDate = 100;

/**
 * Whether a text is a date as programs show it; MAR-1 in capitals is what one was made of. In a name, 8 mars
 * and May 68 are words.
 */
export function isDateLike(text: string, isName = false): boolean {
  if (text.length > longestDate) return false;
  const day = text.replace(clock, "");
  const [, , month, number] = yearFirst.exec(day) ?? [];
  if (month !== undefined) return isDay(Number(number), Number(month));
  const [, a, sign, b, year] = yearLast.exec(day) ?? [];
  // Codes have such parts as well.
  if (year !== undefined && (year.length === 4 || sign !== "-"))
    return isDay(Number(a), Number(b)) || isDay(Number(b), Number(a));
  if (isName && asPeopleWrite.test(day)) return ofScript.test(text);
  return hasMonth(day) || ofScript.test(text) || eastern.test(text);
}

const isDay = (day: number, month: number): boolean => day >= 1 && day <= 31 && month >= 1 && month <= 12;
const isDayNumber = (text: string): boolean => /^\d{1,2}$/.test(text) && isDay(Number(text), 1);
const isLongYear = (text: string): boolean => /^(?:19|20)\d{2}$/.test(text);
const isYear = (text: string): boolean => isLongYear(text) || /^\d{2}$/.test(text);

/** Whether a text is a month with a day or a year, such as 1-Mar, 01. Mrz 26 and Mar-45. */
function hasMonth(text: string): boolean {
  const [a = "", b = "", c = "", ...more] = text.split(separators).filter((part) => part !== "");
  const isMonth = (word: string) => months.has(word.toLowerCase());
  const month = isMonth(a) ? a : b;
  const last = c === "" ? b : c;
  // Codes are in capitals.
  if (more.length > 0 || !isMonth(month) || (month === month.toUpperCase() && !isLongYear(last)))
    return false;
  if (month === b) return isDayNumber(a) && (c === "" || isYear(c));
  return c === "" ? isYear(b) : isDayNumber(b) && isLongYear(c);
}
