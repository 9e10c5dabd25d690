import type { Caller } from '../gateway/caller.ts';
import { Context } from './context.ts';
import { EventScope } from './event-scope.ts';

/** The context of one event of a subscription, which makes no call of the gateway for the account. */
export class EventContext extends Context {
  protected override createScope(caller: Caller): EventScope {
    return new EventScope(this.services, caller, this);
  }
}
