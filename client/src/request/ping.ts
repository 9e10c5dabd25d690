/** Any answer shows that the connection works, and its `Date` gives the server's time. */
export const PING = '{__typename}';
