import { useState, useSyncExternalStore } from 'react';
import { useProvided } from './provider.ts';
import { type TicketForm, TicketFormStore } from './ticket-form.ts';

/**
 * A ticket for a form: it becomes one order at most, lives as long as the component, and begins anew with `reset` and
 * for another account. An order goes on where the component is unmounted.
 */
export function useTicket(): TicketForm {
  const { client } = useProvided();
  const [store, replace] = useState(() => new TicketFormStore(client));
  if (store.client !== client) replace(new TicketFormStore(client));
  return useSyncExternalStore(store.subscribe, store.snapshot, () => store.serverSnapshot);
}
