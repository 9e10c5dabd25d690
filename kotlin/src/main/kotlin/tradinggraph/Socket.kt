package tradinggraph

import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.selects.*
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import okhttp3.*

private const val CAPACITY = 64
private const val HANDSHAKE_MS = 10_000L
private const val STEP_MS = 5_000L
private const val NORMAL = 1000
private const val TRY_AGAIN_LATER = 1013
private const val TRY_AGAIN_SECONDS = 5.0

/** A connection is lost. The server can ask to wait before the next one. */
internal class ConnectionLost(reason: String?, val floorSeconds: Double = 0.0) : Exception(reason)

/** Subscriptions by `graphql-transport-ws`, each over a WebSocket of its own. */
internal class Socket(private val platform: Platform, private val url: String, private val device: Device, private val heartbeatMs: Long) {
  /**
   * The data of each event. Fails with [ConnectionLost], or with a [TradingGraphException]: `NETWORK` if no connection opens,
   * `UNAUTHENTICATED` for a refused token.
   */
  fun events(operation: JsonObject, token: String): Flow<JsonObject> = flow {
    // Bounded: a reader that is slow slows its connection down.
    val texts = Channel<String>(CAPACITY)
    val request = Request.Builder().url(url).header("sec-websocket-protocol", "graphql-transport-ws").build()
    val socket = platform.sockets.newWebSocket(request, Listener(texts, operation, token))
    var isOpen = false
    try {
      withTimeoutOrNull(HANDSHAKE_MS) { texts.receive() } ?: throw ConnectionLost("no answer came in time")
      isOpen = true
      val watchdog = Watchdog(device, heartbeatMs) { socket.send("""{"type":"ping"}""") }
      while (true) {
        val message = parseJson(watchdog.receive(texts) ?: throw ConnectionLost("it is silent"))
        val payload = message.field("payload")
        when (message.text("type")) {
          "next" -> emit(payload.field("data") as? JsonObject ?: throw serverError(payload.list("errors").firstOrNull()))
          "error" -> throw serverError(message.list("payload").firstOrNull())
          "complete" -> return@flow
          "ping" -> socket.send("""{"type":"pong"}""")
        }
      }
    } catch (lost: ConnectionLost) {
      throw if (isOpen) lost else networkError("No connection opens: ${lost.message}.", lost)
    } finally {
      texts.cancel()
      if (!socket.close(NORMAL, null)) socket.cancel()
    }
  }

  private class Listener(private val texts: Channel<String>, private val operation: JsonObject, private val token: String) :
    WebSocketListener() {
    override fun onOpen(webSocket: WebSocket, response: Response) {
      // Both in one flight: the server begins the subscription once it has judged the token.
      val authorization = jsonOf("authorization" to "Bearer $token")
      webSocket.send(jsonOf("type" to "connection_init", "payload" to authorization).toString())
      webSocket.send(jsonOf("type" to "subscribe", "id" to "1", "payload" to operation).toString())
    }

    override fun onMessage(webSocket: WebSocket, text: String) {
      texts.trySendBlocking(text)
    }

    override fun onClosing(webSocket: WebSocket, code: Int, reason: String) {
      webSocket.close(NORMAL, null)
      val failure = when (code) {
        4401, 4403 -> TradingGraphException(UNAUTHENTICATED, "The token has ended.")
        // Mistakes of the client: a new socket would be closed in the same way.
        1009, 4400, 4406, 4409 -> protocolError("The WebSocket was closed with $code $reason.")
        else -> ConnectionLost("closed with $code $reason", if (code == TRY_AGAIN_LATER) TRY_AGAIN_SECONDS else 0.0)
      }
      texts.close(failure)
    }

    override fun onFailure(webSocket: WebSocket, t: Throwable, response: Response?) {
      texts.close(ConnectionLost(response?.let { "HTTP ${it.code}" } ?: t.message))
    }
  }

  /**
   * Finds a dead connection, which a platform may never report. A ping is sent after four times the last pause, but not before 5 s,
   * and at the latest 5 s after an overdue heartbeat.
   */
  private class Watchdog(private val device: Device, private val heartbeatMs: Long, private val ping: () -> Unit) {
    private var lastPauseMs = 0L

    /** Null if the connection is dead. */
    suspend fun receive(texts: Channel<String>): String? {
      val silence = Stopwatch(device)
      val patienceMs = minOf(heartbeatMs + STEP_MS, maxOf(STEP_MS, 4 * lastPauseMs))
      var text: String? = null
      while (text == null && silence.elapsedMs < patienceMs) {
        // A timer stands still while the device sleeps, so that a long one would be late.
        text = texts.receiveWithin(minOf(STEP_MS, patienceMs - silence.elapsedMs))
      }
      if (text == null) {
        ping()
        text = texts.receiveWithin(STEP_MS)
      }
      lastPauseMs = silence.elapsedMs
      return text
    }

    /** Unlike `withTimeoutOrNull`, it loses no text that arrives at the last moment. */
    @OptIn(ExperimentalCoroutinesApi::class)
    private suspend fun Channel<String>.receiveWithin(ms: Long): String? = select {
      onReceive { it }
      onTimeout(ms) { null }
    }
  }
}
