/** Whether `npm run test:long` runs. */
export const isLong = process.env.TEST_LENGTH === "long";

/** The number of repetitions, or another value, in `npm test` and in `npm run test:long`. */
export const repetitions = <Value>(short: Value, long: Value): Value => (isLong ? long : short);
