/** Whether `npm run test:long` runs. */
export const isLong = process.env.TEST_LENGTH === "long";

/** The number of repetitions, or another value, in `npm test` and in `npm run test:long`. */
export const repetitions = <Value>(short: Value, long: Value): Value => (isLong ? long : short);

/** Cases of one rule that differ in little: `npm test` takes some of them, from first to last, `npm run test:long` all. */
export const sampled = <Case>(cases: readonly Case[], count = 2): Case[] => {
  const last = cases.length - 1;
  if (isLong || last < count) return [...cases];
  return Array.from(
    { length: count },
    (_, at) => cases[count === 1 ? 0 : Math.round((at * last) / (count - 1))]!,
  );
};
