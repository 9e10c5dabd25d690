import java.io.File
import kotlinx.coroutines.*
import kotlinx.serialization.json.*
import tradinggraph.*

/** Keeps the keys of orders in a folder. */
class FileStorage(private val folder: File) : KeyStorage {
  override suspend fun read(prefix: String) = withContext(Dispatchers.IO) {
    folder.listFiles().orEmpty().associate { it.name.replace(' ', '/') to it.readText() }.filterKeys { it.startsWith(prefix) }
  }

  override suspend fun write(name: String, text: String?): Unit = withContext(Dispatchers.IO) {
    val file = File(folder.apply { mkdirs() }, name.replace('/', ' '))
    if (text == null) file.delete() else file.writeText(text)
  }
}

val signIn = """mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }"""

/** Your own sign-in takes the place of this one. */
class Session {
  lateinit var graph: TradingGraph
  private var token: String? = null

  // With `force` the last token was refused.
  suspend fun token(force: Boolean): String? {
    if (force || token == null) token = signIn()
    return token
  }

  private suspend fun signIn(): String? {
    val answer = graph.mutate(signIn, anonymous = true)
    answer.errors.firstOrNull()?.let { throw it }
    return answer.data?.get("login")?.jsonObject?.get("accessToken")?.jsonPrimitive?.content
  }
}

fun main(arguments: Array<String>): Unit = runBlocking {
  val session = Session()
  val url = System.getenv("TRADING_GRAPH_URL") ?: "http://127.0.0.1:4000/graphql"
  TradingGraph(url, session::token, FileStorage(File("orders"))).use { graph ->
    session.graph = graph
    // What became of the orders of an earlier run.
    for (ticket in graph.orders.resume()) println("${ticket.placed?.input}: ${ticket.state.value.outcome}")
    val list = launch {
      graph.account.state.collect { state ->
        println("${state.status} ${state.asOf ?: ""} profit ${state.totals?.number("profit")} ${state.error?.message ?: ""}")
        for (row in state.positions.orEmpty()) println("  ${row.text("symbol")} ${row.number("units")}: ${row.number("profit")}")
      }
    }
    if ("buy" in arguments) println(graph.orders.ticket().place(NewOrder.market("AAPL", "BUY", NewOrder.units(1.0))))
    delay(if ("short" in arguments) 3_000 else Long.MAX_VALUE)
    list.cancel()
  }
}
