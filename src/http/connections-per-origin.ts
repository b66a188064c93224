/** Sockets per origin: enough to saturate a slow link, few enough not to look like an attack. */
export const connectionsPerOrigin = 32;
