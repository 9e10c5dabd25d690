// In place of GraphiQL's own: there each tab is a list item with the role of a tab around two buttons, and all are
// stops of the Tab key. Here a list has one stop, arrows move in it, and Delete closes. They cannot be dragged, which needs a library of motion.
import { CloseIcon, UnStyledButton } from '@graphiql/react';
import { createContext, createElement as h, useContext } from 'react';

const IsActive = createContext(false);

/** Names the group that a tab is shown in, by its query: for a moment after a change of tabs a title may be the former one's. */
export const GroupOf = createContext(() => '');

export const Tab = Object.assign(TabItem, { Button: TabButton, Close: TabClose });

export function Tabs({ values: _values, onReorder: _onReorder, className, children, ...props }) {
  const groupOf = useContext(GroupOf);
  const groups = Map.groupBy(children, (tab) => groupOf(tab.props.value.query));
  return h(
    'ul',
    { ...props, onKeyDown: move, className: `graphiql-tabs ${className}` },
    [...groups].map(([name, tabs]) => {
      const id = `tab-group-${name.replaceAll(' ', '-')}`;
      return h(
        'li',
        { key: name, className: 'tab-group' },
        h('span', { id }, name),
        h('ul', { 'aria-labelledby': id }, tabs),
      );
    }),
  );
}

function TabItem({ isActive, value: _value, children }) {
  const className = isActive ? 'graphiql-tab graphiql-tab-active' : 'graphiql-tab';
  // A new tab may be drawn where the list has to be scrolled to.
  const ref = isActive ? show : null;
  return h(IsActive, { value: isActive }, h('li', { className, ref }, children));
}

function TabButton(props) {
  const isActive = useContext(IsActive);
  return h(UnStyledButton, {
    ...props,
    type: 'button',
    className: 'graphiql-tab-button',
    tabIndex: isActive ? 0 : -1,
    'aria-current': isActive ? 'true' : undefined,
    'aria-keyshortcuts': 'Delete',
  });
}

function TabClose(props) {
  return h(
    UnStyledButton,
    {
      ...props,
      type: 'button',
      className: 'graphiql-tab-close',
      'aria-label': 'Close Tab',
      tabIndex: -1,
    },
    h(CloseIcon, { 'aria-hidden': true }),
  );
}

/** Scrolls the list alone: `scrollIntoView` moves the place that the Tab key goes on from as well. */
function show(tab) {
  const list = tab?.closest('.graphiql-tabs');
  if (!list) return;
  const own = tab.getBoundingClientRect();
  const whole = list.getBoundingClientRect();
  list.scrollLeft += Math.max(0, own.right - whole.right) + Math.min(0, own.left - whole.left);
}

function move(event) {
  const buttons = [...event.currentTarget.querySelectorAll('.graphiql-tab-button')];
  const at = buttons.indexOf(event.target);
  if (at < 0) return;
  if (event.key === 'Delete') {
    event.preventDefault();
    const list = event.currentTarget;
    buttons[at].parentElement.querySelector('.graphiql-tab-close')?.click();
    // The focus has gone with the tab; what is drawn next has the one that is open then.
    requestAnimationFrame(() => list.querySelector('[aria-current]')?.focus());
    return;
  }
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const button = buttons.at(next % buttons.length);
  button.focus();
  button.click();
}
