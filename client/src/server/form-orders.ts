import type { Core } from '../core.ts';
import type { TypedText } from '../operation.ts';
import type { Orders } from '../orders/create-orders.ts';
import { digestOf } from '../orders/digest.ts';
import { PLACED_ORDER, VOID_ORDER } from '../orders/operations.ts';
import type { OrderInput } from '../orders/order-input.ts';
import { timeOfKey } from '../orders/order-key.ts';
import { type OrderOutcome, ofAllRequests, readAnswer } from '../orders/outcome.ts';
import { asTradingGraphError, protocolError } from '../request/failures.ts';

/** The search parameters of an address, or the fields of a form. */
export type FormValues = { get(name: string): unknown } | Readonly<Record<string, unknown>>;

/** The state of an order's form, for the page that shows it. */
export type FormPage =
  /**
   * The address has no key yet. Redirect to `to`, the page's own address with a new key, so that a reload shows the same
   * order. A page without an address keeps the key in a cookie, and opens the form with it.
   */
  | { readonly kind: 'redirect'; readonly to: string; readonly key: string }
  | {
      readonly kind: 'order';
      readonly key: string;
      /** `ready`: the order was not placed so far. */
      readonly status: 'ready' | OrderOutcome['status'];
      /** Null while the order is not placed, and if the server does not answer. */
      readonly outcome: OrderOutcome | null;
      /** The message for the user, in English; empty if `ready`. */
      readonly text: string;
      /** The action of the form's button: to place the order, or to ask again for its outcome. Null if there is no button. */
      readonly button: 'place' | 'ask' | null;
      /** The hidden fields of the form. */
      readonly fields: readonly { readonly name: string; readonly value: string }[];
    };

export interface FormOptions {
  /** How long the outcome is sought, in milliseconds; 20,000 by default. */
  readonly withinMs?: number | undefined;
}

/**
 * An order that a form posts, without a script in the page. Its key stands in the page's address from before the first tap.
 * So a second tap, a reload and a lost answer are repeats of one order.
 */
export interface FormOrders {
  /**
   * The page for an address with these search parameters. It sends no order. Rejects with a TradingGraphError if no user is
   * signed in, or the server does not answer.
   */
  open(search: FormValues): Promise<FormPage>;
  /**
   * Takes the posted form. Returns the address of the page that shows the outcome: redirect to it (303). `input` makes the
   * order; it is not called if the user only asks again. Throws if the form lacks the `fields` of its page.
   */
  post(fields: FormValues, input: () => OrderInput, options?: FormOptions): Promise<string>;
}

type OrderPage = Extract<FormPage, { kind: 'order' }>;

const WITHIN_MS = 20_000;
/** The names of the parameters and fields. */
const ORDER = 'order';
const POSTED = 'posted';
const ASKS = 'ask';
/** The value of `posted` and `ask` if the account that has posted the form is not known. */
const UNKNOWN_ACCOUNT = '1';
/** With these errors no user is signed in. */
const SIGNED_OUT: ReadonlySet<string> = new Set(['SIGNED_OUT', 'UNAUTHENTICATED', 'FORBIDDEN']);
/** As in `texts.json`. */
const TEXTS: Readonly<Record<'ready' | OrderOutcome['status'], string>> = {
  ready: '',
  accepted: 'Done.',
  rejected: 'Nothing was traded.',
  unsent: 'Not placed. Nothing was bought or sold.',
  unknown: 'We have no confirmation of your order. It may have been carried out.',
};

const BUTTONS: Readonly<Record<string, 'place' | 'ask'>> = { ready: 'place', unknown: 'ask' };

const NEW_KEY: TypedText<
  { readonly newOrderKey: string | null },
  Readonly<Record<string, never>>
> = 'mutation NewOrderKey { newOrderKey }';

export function createFormOrders(core: Core, orders: Orders): FormOrders {
  return {
    async open(search) {
      const key = textOf(search, ORDER);
      if (timeOfKey(key) === null) {
        const made = await newKey(core);
        return { kind: 'redirect', key: made, to: addressOf(made) };
      }
      const posted = textOf(search, POSTED);
      try {
        const asked = await core.request(PLACED_ORDER, { key }, { timeoutMs: WITHIN_MS });
        const found = readAnswer(asked, key);
        const wasSent = found !== null && found.status !== 'unsent';
        if (wasSent || (await mayHavePosted(core, key, posted))) return pageOf(key, found, posted);
        // What this account asks or closes says nothing about the order of the account that has posted the form.
        return { ...pageOf(key, null, posted), button: null, fields: [] };
      } catch (thrown) {
        const error = asTradingGraphError(thrown);
        // Without its records the server cannot say whether the order was placed before.
        const isDoubtful = posted !== '' || error.code === 'IDEMPOTENCY_UNAVAILABLE';
        if (SIGNED_OUT.has(error.code) || !isDoubtful) throw error;
        return pageOf(key, null, posted || UNKNOWN_ACCOUNT);
      }
    },
    async post(fields, input, { withinMs = WITHIN_MS } = {}) {
      const key = textOf(fields, ORDER);
      if (timeOfKey(key) === null)
        throw new TypeError('The form has no key of an order: it needs the `fields` of its page.');
      const asks = textOf(fields, ASKS);
      if (asks === '') {
        await orders.ticket({ idempotencyKey: key }).place(input(), { withinMs });
        const posted = core.login === null ? UNKNOWN_ACCOUNT : markOf(key, core.login);
        return addressOf(key, posted);
      }
      // To ask again must not place an order that never arrived, at a later price. So its key is closed.
      if (await mayHavePosted(core, key, asks)) await core.request(VOID_ORDER, { key });
      return addressOf(key, asks);
    },
  };
}

/** Whether the signed-in account may have posted the form. The server finds a key only for the account that has used it. */
async function mayHavePosted(core: Core, key: string, posted: string): Promise<boolean> {
  if (posted === '' || posted === UNKNOWN_ACCOUNT) return true;
  const login = await core.account().catch(() => null);
  return login !== null && posted === markOf(key, login);
}

/** Stands for the account in addresses, which should not show its login. */
function markOf(key: string, login: string): string {
  return digestOf(`${key} ${login}`);
}

/** `posted` is empty if the form was not posted. */
function pageOf(key: string, found: OrderOutcome | null, posted: string): OrderPage {
  const outcome = found && ofAllRequests(found, '');
  const status = outcome?.status ?? (posted === '' ? 'ready' : 'unknown');
  const button = BUTTONS[status] ?? null;
  const message = outcome?.status === 'rejected' ? outcome.message : null;
  return {
    kind: 'order',
    key,
    status,
    outcome,
    text: message === null ? TEXTS[status] : `${message} ${TEXTS[status]}`,
    button,
    fields: [
      { name: ORDER, value: key },
      ...(button === 'ask' ? [{ name: ASKS, value: posted || UNKNOWN_ACCOUNT }] : []),
    ],
  };
}

async function newKey(core: Core): Promise<string> {
  const { data, errors } = await core.request(NEW_KEY, {}, { anonymous: true, repeats: true });
  if (data?.newOrderKey == null) throw errors[0] ?? protocolError('The answer has no key.');
  return data.newOrderKey;
}

function addressOf(key: string, posted = ''): string {
  return `?${ORDER}=${key}${posted === '' ? '' : `&${POSTED}=${posted}`}`;
}

function textOf(values: FormValues, name: string): string {
  const { get } = values;
  const value = typeof get === 'function' ? get.call(values, name) : Object(values)[name];
  return typeof value === 'string' ? value : '';
}
