/** Asks whose the token is. */
export const ACCOUNT_OPERATION = `query TradingGraphAccount {
  session {
    login
  }
}`;
