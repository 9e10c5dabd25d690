/** A field that would read the gateway for each event and subscriber. */
export class NotInEventsError extends Error {
  override readonly name = 'NotInEventsError';

  constructor() {
    super('the feed of this subscription does not have it');
  }
}
