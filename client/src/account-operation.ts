import type { TypedText } from './operation.ts';

export interface LoginAnswer {
  readonly session: { readonly login: string | null } | null;
}

/** Asks which account the token belongs to. */
export const ACCOUNT_OPERATION: TypedText<LoginAnswer> = `query TradingGraphAccount {
  session {
    login
  }
}`;
