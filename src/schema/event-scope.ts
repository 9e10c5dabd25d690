import type { Caller } from '../gateway/caller.ts';
import type { Position } from '../gateway/operations/holdings.ts';
import { NO_PLAN, type ReadRecord, Scope, type Services } from './scope.ts';

/** The feed lacks a field's data, so the field would need a gateway call for each event and subscriber. */
export class NotInEventsError extends Error {
  override readonly name = 'NotInEventsError';

  constructor() {
    super('the feed of this subscription does not have it');
  }
}

/** The reads of one event: the account's feed and the catalog, because gateway calls for each event would be too many. */
export class EventScope extends Scope {
  readonly #feeds: Services['feeds'];

  constructor(services: Services, caller: Caller, record: ReadRecord) {
    super(services, caller, record, NO_PLAN);
    this.#feeds = services.feeds;
  }

  protected override asViewer(): never {
    throw new NotInEventsError();
  }

  override async positionsOf(): Promise<readonly Position[]> {
    const state = this.#feeds.shown(await this.viewer());
    if (state === null) throw new NotInEventsError();
    return state.rows;
  }
}
