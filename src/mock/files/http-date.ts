const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const month = `(?<month>${months.join("|")})`;
const time = "(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)";
const short = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const long = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day";

/** The current form and the two obsolete ones, which a recipient must accept (RFC 9110, 5.6.7). */
const forms = [
  new RegExp(`^${short}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${long}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^${short} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/**
 * Parses an HTTP date to milliseconds since the epoch; null for an invalid one, such as a day that the month
 * does not have. A two-digit year is at most 50 years after `now`, which is in milliseconds too. The name of
 * the day is not checked.
 */
export function httpDate(text: string, now: number): number | null {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const day = Number(parts.day);
    const date = new Date(0);
    date.setUTCFullYear(yearOf(parts.year!, now), months.indexOf(parts.month!), day);
    if (date.getUTCDate() !== day) return null;
    return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  }
  return null;
}

function yearOf(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}
