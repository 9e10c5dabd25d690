/** Any answer shows that the connection works, and its `Date` has the server's time. */
export const PING = '{__typename}';
