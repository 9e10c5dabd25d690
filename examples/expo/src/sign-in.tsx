import { useState } from 'react';
import { Button, Text, TextInput, View } from 'react-native';
import { signIn } from './session';

export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const [email, setEmail] = useState('demo@example.com');
  const [password, setPassword] = useState('demo');
  const [problem, setProblem] = useState<string | null>(null);
  const [isAsking, setIsAsking] = useState(false);

  async function tap() {
    setIsAsking(true);
    setProblem(null);
    try {
      const refusal = await signIn({ email, password });
      if (refusal === null) onSignedIn();
      setProblem(refusal);
    } catch {
      setProblem('No connection. Try again.');
    }
    setIsAsking(false);
  }

  return (
    <View>
      <TextInput
        accessibilityLabel="E-mail"
        autoCapitalize="none"
        value={email}
        onChangeText={setEmail}
      />
      <TextInput
        accessibilityLabel="Password"
        secureTextEntry
        value={password}
        onChangeText={setPassword}
      />
      <Button title="Sign in" disabled={isAsking} onPress={() => void tap()} />
      {problem !== null && <Text accessibilityRole="alert">{problem}</Text>}
    </View>
  );
}
