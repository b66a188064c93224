/** What npm and other package managers print where they cannot reach the registry. */
export const noNetwork =
  /ECONNRE|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ENOTCACHED|ERR_SOCKET|socket hang up|\b50[234]\b|network/i;
