const isLong = process.env.TEST_LENGTH === "long";

/** How often to repeat something: in `npm test`, and in `npm run test:long`. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
