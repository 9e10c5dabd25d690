import type { TypedText } from '../../../client/src/operation.ts';

// The page's operations for which the client has no function.

interface LoginData {
  readonly login: { readonly accessToken?: string; readonly message?: string | null } | null;
}

export const LOGIN: TypedText<LoginData, { email: string; password: string }> =
  `mutation SignIn($email: String!, $password: String!) {
  login(input: { email: $email, password: $password }) {
    ... on LoginSuccess { accessToken }
    ... on LoginRejected { message }
  }
}`;

/** A position, an order or an instrument. */
export interface ScreenRow {
  readonly symbol: string;
  readonly name: string | null;
  readonly profit?: number | null;
  readonly priceOpen?: number | null;
  readonly digits?: number | null;
  readonly leverage?: number | null;
}

export interface ScreenData {
  readonly session: {
    readonly balance: number | null;
    readonly equity: number | null;
    readonly currency: string | null;
    readonly fetchedAt?: string;
  } | null;
  readonly positions: readonly ScreenRow[] | null;
  readonly orders: readonly ScreenRow[] | null;
  readonly watchList: readonly (ScreenRow | null)[] | null;
  readonly withdrawalMethods:
    | readonly { readonly title: string | null; readonly status: string | null }[]
    | null;
  readonly customerId: string | null;
}

export const WATCHED: readonly string[] = ['TSLA', 'DE40', 'ETHUSD'];

export const START_SCREEN: TypedText<ScreenData, Record<string, never>> = `query StartScreen {
  session { id balance equity currency fetchedAt }
  positions { id symbol name profit }
  orders { id symbol name priceOpen digits }
  watchList: instrumentsByIds(ids: ${JSON.stringify(WATCHED)}) {
    id symbol name leverage
  }
  ... @defer {
    withdrawalMethods { id title status }
    customerId
  }
}`;
