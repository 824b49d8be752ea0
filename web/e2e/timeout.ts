/** Timeout of an expectation in milliseconds. */
export const TIMEOUT = 60_000;
