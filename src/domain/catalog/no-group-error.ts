/** Neither the token nor its account's snapshot names a group, so there is no catalog to ask for. */
export class NoGroupError extends Error {
  override readonly name = 'NoGroupError';

  constructor() {
    super('the account belongs to no group that the gateway names');
  }
}
