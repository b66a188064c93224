const isLong = process.env.TEST_LENGTH === "long";

/** The number of repetitions in `npm test` and in `npm run test:long`. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
