import type { TradingGraphError } from '../../../client/src/errors.ts';
import type { OrderOutcome } from '../../../client/src/orders/outcome.ts';
import type { OrderProgress } from '../../../client/src/orders/ticket.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { onClick } from '../on-click.ts';

/** What is known of a key by one question. */
export type Answer =
  | OrderOutcome
  | { readonly status: 'notFound' }
  | { readonly status: 'unanswered'; readonly error: TradingGraphError };

type Status = Answer['status'] | 'none' | 'looking' | 'pending' | 'killed';
export type Details = readonly (readonly [name: string, value: string])[];

export interface Shown {
  readonly status: Status;
  readonly title: string;
  readonly details: Details;
  readonly advice: string;
  /** Asks once more what became of an order whose outcome is open. */
  readonly ask?: () => Promise<Shown>;
}

const WORDS: Readonly<Record<Status, readonly [title: string, advice: string]>> = {
  none: ['No order yet', 'Choose how the gateway answers, and place one.'],
  looking: ['Looking for earlier orders', 'The server is asked what became of them.'],
  pending: [
    'On its way',
    'The key is stored. Whatever happens to this page, the order is sent once.',
  ],
  killed: [
    'The app is dead',
    'All that is left of it is the key in its storage. The order goes on at the server.',
  ],
  accepted: ['Accepted', 'The position is in the live list above.'],
  rejected: ['Rejected', 'Nothing was traded. The form may be corrected and sent with a new key.'],
  unknown: [
    'Unknown',
    'No clear answer came, so nobody can say yet whether it was traded. The same key never trades twice: ask again, and look at the live list.',
  ],
  unsent: [
    'Not placed',
    'Nothing was traded, and nothing of it comes later. Another tap is another order.',
  ],
  notFound: [
    'Not arrived',
    'The server has no record of the key. Its order may arrive until its time is over; then the key is closed.',
  ],
  unanswered: ['Not known yet', 'No answer has said yet what became of it.'],
};

/** The words for what the client does meanwhile. */
const STEPS: Readonly<Record<OrderProgress, string>> = {
  sending: 'On its way',
  asking: 'No answer yet: asking what became of it',
  closing: 'No answer yet: closing its key, so that it is not sent again',
};

/** Shows one order of the box, for as long as that is the latest one of the user who placed it. */
export interface Turn {
  isShown(): boolean;
  step(progress: OrderProgress): void;
  show(shown: Shown): void;
}

/** Shows the outcome of the order that the user has placed last. Those of the others go on, and are shown when they come back. */
export class OrderBox {
  readonly #latest = new Map<string, { shown: Shown }>();
  readonly #session: App['session'];

  constructor(app: App) {
    this.#session = app.session;
    app.onUserChange(() => this.#draw());
    onClick(find('order-again', HTMLButtonElement), () => this.#askAgain());
  }

  get #shown(): Shown {
    return this.#latest.get(this.#session.email)?.shown ?? wordsOf('none');
  }

  /** Whether no order of this user is known. */
  get isEmpty(): boolean {
    return this.#shown.status === 'none';
  }

  /** Brings it into the window, as far as it is not there. */
  reveal(): void {
    find('order-outcome', HTMLElement).scrollIntoView({ block: 'nearest' });
  }

  /** A later word about an earlier order is not shown any more. */
  begin(shown: Shown): Turn {
    const own = { shown };
    this.#latest.set(this.#session.email, own);
    this.#draw();
    const isShown = () => this.#latest.get(this.#session.email) === own;
    return {
      isShown,
      step: (progress) => {
        if (isShown() && own.shown.status === 'pending') {
          setText(find('order-title', HTMLElement), STEPS[progress]);
        }
      },
      show: (later) => {
        own.shown = later;
        if (isShown()) this.#draw();
      },
    };
  }

  /** Asks without a word whether more has become known, as when a position has come. */
  async look(): Promise<void> {
    const before = this.#shown;
    const later = await before.ask?.();
    if (later && this.#shown === before && later.status !== before.status) this.begin(later);
  }

  async #askAgain(): Promise<void> {
    const before = this.#shown;
    const { details } = before;
    const turn = this.begin({ ...wordsOf('pending'), title: STEPS.asking, details });
    const later = await before.ask?.();
    // Another user has no such order.
    turn.show((turn.isShown() && later) || before);
  }

  #draw(): void {
    const { status, title, details, advice, ask } = this.#shown;
    find('order-outcome', HTMLElement).dataset.status = status;
    setText(find('order-title', HTMLElement), title);
    setText(find('order-advice', HTMLElement), advice);
    find('order-details', HTMLElement).replaceChildren(
      ...details.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
    );
    find('order-actions', HTMLElement).hidden = ask === undefined;
    if (status !== 'none' && status !== 'looking') announce(`Order: ${title}. ${advice}`);
  }
}

export function wordsOf(status: Status): Shown {
  const [title, advice] = WORDS[status];
  return { status, title, advice, details: [] };
}

export function detailsOf(outcome: Answer): Details {
  switch (outcome.status) {
    case 'accepted':
      return [['Order', outcome.orderId ?? '–'], ...saidOf(outcome.message)];
    case 'rejected':
      return [['Reason', outcome.error ?? '–'], ...saidOf(outcome.message)];
    case 'unknown':
      return [['Sent at', outcome.sentAt]];
    case 'notFound':
      return [];
    default:
      return [['Reason', outcome.error.message]];
  }
}

function saidOf(message: string | null): Details {
  return message ? [['The gateway says', message]] : [];
}
