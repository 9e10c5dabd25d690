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
  const [tab, setTab] = useState<'positions' | 'trade'>('positions');
  return (
    <div className="desk" data-tab={tab}>
      <header>
        <h1>Trading Graph</h1>
        <nav aria-label="Sections">
          <button
            type="button"
            aria-current={tab === 'positions'}
            onClick={() => setTab('positions')}
          >
            Positions
          </button>
          <button type="button" aria-current={tab === 'trade'} onClick={() => setTab('trade')}>
            Trade
          </button>
        </nav>
        <button type="button" className="quiet" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main>
        <div className="positions">
          <EarlierOrders />
          <Positions />
        </div>
        <div className="trade">
          <Instruments chosen={symbol} onChoose={setSymbol} />
          <OrderForm symbol={symbol} />
        </div>
      </main>
    </div>
  );
}
