import java.io.File
import kotlinx.coroutines.*
import tradinggraph.*

fun main(arguments: Array<String>): Unit = runBlocking {
  val url = System.getenv("TRADING_GRAPH_URL") ?: "http://127.0.0.1:4000/graphql"
  var token: String? = null
  val graph = TradingGraph(url, { force ->
    // With `force` the last token was refused.
    if (force || token == null) token = signIn("demo@example.com", "demo")
    token
  }, FileStorage(File("orders")))

  launch {
    for (order in graph.orders.resume()) println("${order.placed} of an earlier run. ${words(order.outcome)}")
  }
  if ("buy" in arguments) launch {
    println(words(graph.orders.ticket().place(NewOrder.market("AAPL", "BUY", NewOrder.units(1.0)))))
  }
  graph.account.state.collect { state ->
    println("${state.status} ${state.asOf ?: ""} profit ${state.totals?.number("profit")} ${state.error?.message ?: ""}")
    for (row in state.positions.orEmpty()) println("  ${row.text("symbol")} ${row.number("units")}: ${row.number("profit")}")
  }
}

fun words(outcome: Outcome) = when (outcome) {
  is Outcome.Accepted -> "Done: ${outcome.orderId}."
  is Outcome.Rejected -> "Nothing was traded: ${outcome.message}"
  is Outcome.Unsent -> "Not placed, nothing was traded: ${outcome.error.message}"
  // A button asks again, with the same key: `ticket.retry()`.
  is Outcome.Unknown -> "It may have been carried out: look at your positions. ${outcome.error?.message ?: ""}"
}
