// Dates as spreadsheets and programs show them, in the languages of shops.

/** Names of months as spreadsheets show them; words that are as likely parts of names are left out. */
const months =
  "jan(?:uary|uar|v)?|feb(?:ruary|ruar)?|f[eé]v(?:r)?|febr?|mar(?:ch|s|z|et)?|märz?|mrz|mrt|márc|apr(?:il)?|avr(?:il)?|abr|nis|may|mai|mei|maj|máj|maio|mayo|jun[ie]?|juin|giu|haz|jul[iy]?|juil|aug(?:ust)?|ago|août|sept?(?:ember)?|szept|eyl|oct(?:ober)?|okt(?:ober)?|ott|eki|nov(?:ember)?|kas|dec(?:ember)?|dez(?:ember)?|déc|янв|фев|мар|апр|май|июн|июл|авг|сен|окт|ноя|дек";
const between = "[-./ ]{1,2}";
const dayFirst = new RegExp(
  `^(?:0?[1-9]|[12]\\d|3[01])${between}(${months})\\.?(?:${between}(?:\\d{2}|(?:19|20)\\d{2}))?$`,
  "i",
);
const monthFirst = new RegExp(`^(${months})\\.?${between}(?:\\d{2}|(?:19|20)\\d{2})$`, "i");
const withYear = /(?:^|\D)(?:19|20)\d{2}$/;
const clock = "(?:[T ]\\d{1,2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:?\\d{2})?)?";
const yearFirst = new RegExp(`^(?:19|20)\\d{2}([-./])(\\d{1,2})\\1(\\d{1,2})${clock}$`);
const yearLast = new RegExp(`^(\\d{1,2})([-./])(\\d{1,2})\\2((?:19|20)\\d{2}|\\d{2})${clock}$`);
const ofScript = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d{2} \d{4}\b/;
const eastern = /^(?:\d{4}年)?\d{1,2}月(?:\d{1,2}日)?$/;
const longestDate = 100;

/** Whether a text is a date as programs show it; MAR-1 in capitals is what one was made of. */
export function isDateLike(text: string): boolean {
  if (text.length > longestDate) return false;
  const [, month] = dayFirst.exec(text) ?? monthFirst.exec(text) ?? [];
  if (month !== undefined) return month !== month.toUpperCase() || withYear.test(text);
  const [, , first, second] = yearFirst.exec(text) ?? [];
  if (first !== undefined) return isDay(Number(second), Number(first));
  const [, a, sign, b, year] = yearLast.exec(text) ?? [];
  // Codes have such parts as well.
  if (year !== undefined && (year.length === 4 || sign !== "-"))
    return isDay(Number(a), Number(b)) || isDay(Number(b), Number(a));
  return ofScript.test(text) || eastern.test(text);
}

const isDay = (day: number, month: number): boolean => day >= 1 && day <= 31 && month >= 1 && month <= 12;
