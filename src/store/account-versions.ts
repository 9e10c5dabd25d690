/** Tells a replica that an order on another one has changed an account, or may have. */
export interface AccountVersions {
  /** Rejects, and soon, where nobody can tell. */
  read(login: string): Promise<AccountVersion>;
}

export interface AccountVersion {
  /** Another one whenever earlier versions, of whichever account, may have been lost. */
  readonly epoch: string;
  /** Null where no order changed the account within a day. */
  readonly version: string | null;
}
