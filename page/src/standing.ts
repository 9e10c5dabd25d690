import type { AccountState } from '../../client/src/live/states.ts';
import { announce } from './announce.ts';
import type { App } from './app.ts';
import { find, setText } from './dom.ts';
import { formatTime } from './format.ts';
import { clearProblems } from './on-click.ts';

type Status = Exclude<AccountState['status'], 'CONNECTING'> | 'WAITING';

const WORDS: Readonly<Record<Status, string>> = {
  LIVE: 'the account follows the gateway',
  DELAYED: 'the gateway does not answer; the account stands still',
  OFFLINE: 'not connected',
  WAITING: 'the account is on its way',
};

/**
 * Says in one voice how things stand: the bar below the header, the marks of the live account, and what screen
 * readers are told follow from the same facts.
 */
export function startStanding(app: App, note: (text: string) => void): void {
  const { client, calls, session } = app;
  const bar = find('standing', HTMLElement);
  let last: string | null = null;

  function show(): void {
    const problem = problemOf(app);
    bar.hidden = problem === null;
    setText(bar, problem ?? '');
    const [name = '', domain] =
      session.problem === null ? session.email.split('@') : ['signed out'];
    setText(find('who', HTMLElement), name);
    setText(find('who-domain', HTMLElement), domain === undefined ? '' : `@${domain}`);
    const user = new URLSearchParams({ user: session.email });
    find('graphiql-link', HTMLAnchorElement).href = `graphql?${user}`;
    const state = client.account.state();
    const present = state.status === 'CONNECTING' || state.asOf === null ? 'WAITING' : state.status;
    const status = problem !== null ? 'OFFLINE' : present;
    const shown =
      state.asOf === null ? '' : `; showing the account as of ${formatTime(state.asOf)}`;
    const words =
      calls.outage !== null
        ? `nothing comes from the server${shown}`
        : session.problem !== null
          ? 'nobody is signed in'
          : WORDS[status] + (status === 'OFFLINE' ? shown : '');
    for (const pill of document.querySelectorAll('.live-status')) {
      pill.setAttribute('data-status', status);
      setText(pill, status);
    }
    setText(find('live-status-words', HTMLElement), words);
    const sentence = `${status}: ${words}.`;
    if (sentence === last) return;
    // The page starts without a line, which is no news.
    if (last !== null) {
      note(sentence);
      announce(`Account ${sentence}`);
    }
    last = sentence;
  }

  client.account(show);
  calls.onChange(show);
  session.onChange(show);
  app.onReturn(clearProblems);
}

/** Why the page as a whole stands still; null where it does not. */
function problemOf({ calls: { outage }, session: { problem } }: App): string | null {
  if (outage !== null) {
    return `${outage.reason} What is shown is of ${formatTime(outage.answeredAt)}, and goes on by itself when the server answers.`;
  }
  return problem && `Nobody is signed in: ${problem} The page tries again by itself.`;
}
