/** A time for users, in UTC to the second. */
export const shownTime = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
