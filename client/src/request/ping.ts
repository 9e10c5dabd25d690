/** Whatever the answer is, it shows that the line works, and its `Date` tells the server's time. */
export const PING = '{__typename}';
