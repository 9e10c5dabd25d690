import { useState } from 'react';
import { Button, Text, TextInput, View } from 'react-native';
import type { Side } from 'trading-graph-client';
import { type TicketForm, useTicket } from 'trading-graph-client/react';

export function OrderForm() {
  const ticket = useTicket();
  const [symbol, setSymbol] = useState('AAPL');
  const [units, setUnits] = useState('1');
  // An order that may have been sent can no longer be edited.
  const isOpen = ticket.status === 'ready' || ticket.status === 'unsent';
  const order = (side: Side) =>
    void ticket.place({ symbol, side, kind: 'MARKET', size: { units: Number(units) } });
  return (
    <View>
      {isOpen && (
        <>
          <TextInput accessibilityLabel="Symbol" value={symbol} onChangeText={setSymbol} />
          <TextInput
            accessibilityLabel="Units"
            inputMode="decimal"
            value={units}
            onChangeText={setUnits}
          />
          <Button title="Buy" onPress={() => order('BUY')} />
          <Button title="Sell" onPress={() => order('SELL')} />
        </>
      )}
      <Text testID="outcome">{said(ticket)}</Text>
      {ticket.status === 'unknown' && (
        <Button title="Ask again" onPress={() => void ticket.retry()} />
      )}
      {!isOpen && ticket.status !== 'placing' && (
        <Button title="New order" onPress={ticket.reset} />
      )}
    </View>
  );
}

const STEPS = {
  sending: 'Sending your order …',
  asking: 'No answer yet. Asking what became of your order …',
  closing: 'Checking whether your order was placed …',
};

/** Each end of an order has its own words: only one of them says that nothing is known. */
function said(ticket: TicketForm): string {
  switch (ticket.status) {
    case 'ready':
      return '';
    case 'placing':
      return STEPS[ticket.progress];
    case 'accepted':
      return `Done: order ${ticket.outcome.orderId}.`;
    case 'rejected':
      return `${ticket.outcome.message ?? ticket.outcome.error} Nothing was traded.`;
    case 'unsent':
      return `Not placed. Nothing was bought or sold. ${ticket.outcome.error.message}`;
    case 'unknown':
      return 'We have no confirmation of your order. It may have been carried out: look at your positions.';
  }
}
