import { element, elementOf } from './elements.js';
import { definitionsOf, sentFields } from './sent-fields.js';

/** @typedef {import('./types.d.ts').Operation} Operation */

/**
 * Asks before a mutation is sent that places an order, or changes money or a password. The question names what is sent, for
 * whom and where to.
 *
 * @param {Operation} operation
 * @param {readonly string[]} confirmedFields
 * @param {() => Promise<string>} askAccount
 * @returns {Promise<boolean>}
 */
export async function isConfirmed(
  { query, operationName, variables },
  confirmedFields,
  askAccount,
) {
  const names = fieldsToConfirm(query, operationName, confirmedFields);
  if (names.length === 0) return true;
  const dialog = elementOf('confirmation', HTMLDialogElement);
  elementOf('confirmation-question', HTMLElement).textContent = `Send ${names.join(' and ')}?`;
  const account = element('dd', '', '…');
  const sent = sentFields(query, operationName, Object(variables), names);
  elementOf('confirmation-details', HTMLElement).replaceChildren(
    ...sent.flatMap(({ rows }) => rows.flatMap(([name, value]) => row(name, value))),
    element('dt', '', 'account'),
    account,
    ...row('host', location.host),
  );
  askAccount()
    .catch(() => 'not known: the server does not say')
    .then((text) => {
      account.textContent = text;
    });
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'send';
}

/**
 * @param {string} name
 * @param {string} value
 */
function row(name, value) {
  return [element('dt', '', name), element('dd', '', value)];
}

/**
 * The confirmed fields that a document names, unless a query or a subscription of it is executed. Names have no
 * escapes, so a field that is executed is found, also in a fragment; one that is only mentioned is asked for once too often.
 *
 * @param {string} query
 * @param {string | null | undefined} operationName
 * @param {readonly string[]} confirmedFields
 */
function fieldsToConfirm(query, operationName, confirmedFields) {
  const definitions = definitionsOf(query);
  const names = new Set(definitions.flat());
  if (!names.has('mutation')) return [];
  // Elsewhere `query A` may be the spread of a fragment before an alias.
  const isRead = definitions.some(
    ([kind = '', name]) => ['query', 'subscription'].includes(kind) && name === operationName,
  );
  if (isRead) return [];
  return confirmedFields.filter((name) => names.has(name));
}
