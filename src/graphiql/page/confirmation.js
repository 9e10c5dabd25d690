import { elementOf } from './elements.js';

/**
 * Asks before a mutation is sent that places an order, or changes money or a password. Searches the text for the names of
 * such fields. GraphQL has no escapes in names, so each executed field is found, even in a fragment. A comment with such a
 * name causes a needless question.
 *
 * @param {string} query
 * @param {string | undefined} kind The kind of the operation; undefined if the text is not GraphQL.
 * @param {readonly string[]} confirmedFields
 * @returns {Promise<boolean>}
 */
export async function isConfirmed(query, kind, confirmedFields) {
  if (kind === 'query' || kind === 'subscription') return true;
  const names = confirmedFields.filter((name) => new RegExp(`\\b${name}\\b`).test(query));
  if (names.length === 0) return true;
  const dialog = elementOf('confirmation', HTMLDialogElement);
  elementOf('confirmation-question', HTMLElement).textContent =
    `Send ${names.join(' and ')} to ${location.host}?`;
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'send';
}
