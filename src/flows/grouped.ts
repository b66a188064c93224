/** A whole number with its thousands apart: `1,240`. By hand, as `toLocaleString` loads 15 ms of language data. */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
