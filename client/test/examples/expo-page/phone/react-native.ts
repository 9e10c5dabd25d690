import { createElement, type ReactNode } from 'react';

interface Parent {
  readonly accessibilityRole?: string;
  readonly children?: ReactNode;
  readonly testID?: string;
}

const listeners = new Set<(state: string) => void>();

export const AppState = {
  currentState: 'active',
  addEventListener(_type: 'change', listener: (state: string) => void) {
    listeners.add(listener);
    return { remove: () => listeners.delete(listener) };
  },
};

/** The test says by this what the user does. */
Object.assign(globalThis, {
  showApp(state: string) {
    AppState.currentState = state;
    for (const listener of [...listeners]) listener(state);
  },
});

export const Platform = { OS: 'android' };

const element =
  (type: string) =>
  ({ accessibilityRole: role, children, testID }: Parent) =>
    createElement(type, { 'data-testid': testID, role }, children);

export const View = element('div');
export const ScrollView = element('section');
export const Text = element('p');

export function TextInput(props: {
  readonly accessibilityLabel: string;
  readonly secureTextEntry?: boolean;
  readonly value: string;
  onChangeText(text: string): void;
}) {
  return createElement('input', {
    'aria-label': props.accessibilityLabel,
    type: props.secureTextEntry ? 'password' : 'text',
    value: props.value,
    onChange: (event: { target: { value: string } }) => props.onChangeText(event.target.value),
  });
}

export function Button(props: {
  readonly title: string;
  readonly disabled?: boolean;
  onPress(): void;
}) {
  const { title, disabled, onPress } = props;
  return createElement('button', { type: 'button', disabled, onClick: () => onPress() }, title);
}
