import type { Viewer } from '../domain/auth/viewer.ts';
import type { Caller } from '../gateway/caller.ts';
import type { SessionAnswer } from '../gateway/operations/get-session.ts';
import type { Order, Position } from '../gateway/operations/holdings.ts';
import { NO_PLAN, type ReadRecord, Scope } from './scope.ts';
import type { Services } from './services.ts';

/** The feed lacks a field's data, so the field would need a gateway call for each event and subscriber. */
export class NotInEventsError extends Error {
  override readonly name = 'NotInEventsError';

  constructor() {
    super('the feed of this subscription does not have it');
  }
}

/** The reads of one event, from the account's feed: a gateway call for each event and subscriber would exceed any limit. */
export class EventScope extends Scope {
  readonly #feeds: Services['feeds'];

  constructor(services: Services, caller: Caller, record: ReadRecord) {
    super(services, caller, record, NO_PLAN);
    this.#feeds = services.feeds;
  }

  override async positions(): Promise<readonly Position[]> {
    return this.#shown(await this.viewer()).rows;
  }

  override positionsOf(): Promise<readonly Position[]> {
    return this.positions();
  }

  override async session(): Promise<SessionAnswer> {
    const { session } = this.#shown(await this.viewer());
    if (session === null) throw new NotInEventsError();
    return session;
  }

  override async orders(): Promise<readonly Order[] | null> {
    const { session } = await this.session();
    return session.orders;
  }

  override async read(): Promise<never> {
    throw new NotInEventsError();
  }

  #shown(viewer: Viewer) {
    const state = this.#feeds.shown(viewer);
    if (state === null) throw new NotInEventsError();
    return state;
  }
}
