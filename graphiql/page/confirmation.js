import { elementOf } from './elements.js';

/**
 * Asks before a mutation is sent that places an order, or changes money or a password.
 *
 * @param {string} query
 * @param {string | null | undefined} operationName
 * @param {readonly string[]} confirmedFields
 * @returns {Promise<boolean>}
 */
export async function isConfirmed(query, operationName, confirmedFields) {
  const fields = fieldsToConfirm(query, operationName, confirmedFields);
  if (fields.length === 0) return true;
  const dialog = elementOf('confirmation', HTMLDialogElement);
  elementOf('confirmation-question', HTMLElement).textContent = `Send ${fields.join(' and ')}?`;
  dialog.returnValue = '';
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
  return dialog.returnValue === 'send';
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
  const code = query.replaceAll(/"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g, ' ');
  const names = new Set(code.match(/[_A-Za-z]\w*/g));
  if (!names.has('mutation')) return [];
  if (operationName && new RegExp(`\\b(?:query|subscription)[\\s,]+${operationName}\\b`).test(code))
    return [];
  return confirmedFields.filter((name) => names.has(name));
}
