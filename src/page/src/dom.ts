type Kind<T> = abstract new (...args: never[]) => T;

/** The element with this id in the page's HTML. */
export function find<T extends Element>(id: string, kind: Kind<T>): T {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new TypeError(`The page has no ${kind.name} #${id}.`);
  return element;
}

type Attributes = Readonly<Record<string, string | number | boolean | null>>;
type Child = Node | string | number | null;

/** A new element; false and null attributes are left out. Texts never become markup. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(attribute, '');
    else if (value !== false && value !== null) element.setAttribute(attribute, String(value));
  }
  element.append(...children.filter((child) => child !== null).map(asNode));
  return element;
}

function asNode(child: Node | string | number): Node | string {
  return typeof child === 'number' ? String(child) : child;
}

/** Sets a text only if it differs, because each change costs a layout. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
