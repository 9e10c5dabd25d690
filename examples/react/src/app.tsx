import { useState } from 'react';
import { EarlierOrders } from './earlier-orders.tsx';
import { Instruments } from './instruments.tsx';
import { OrderForm } from './order-form.tsx';
import { Positions } from './positions.tsx';
import { signOut, useIsSignedIn } from './session.ts';
import { SignIn } from './sign-in.tsx';

export function App() {
  return useIsSignedIn() ? <Desk /> : <SignIn />;
}

function Desk() {
  const [symbol, setSymbol] = useState('AAPL');
  return (
    <>
      <header>
        <h1>Trading Graph</h1>
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main className="desk">
        <div>
          <EarlierOrders />
          <Positions />
        </div>
        <div className="trade">
          <Instruments chosen={symbol} onChoose={setSymbol} />
          <OrderForm symbol={symbol} />
        </div>
      </main>
    </>
  );
}
