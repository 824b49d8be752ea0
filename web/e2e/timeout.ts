/** So many milliseconds are waited for what is to come: a limit only for what never comes. */
export const TIMEOUT = 60_000;
