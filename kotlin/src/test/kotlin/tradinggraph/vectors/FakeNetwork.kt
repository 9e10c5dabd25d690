package tradinggraph.vectors

import java.io.IOException
import java.time.Instant
import java.time.ZoneOffset
import java.time.format.DateTimeFormatter
import java.util.concurrent.LinkedBlockingQueue
import kotlin.concurrent.thread
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.launch
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import okhttp3.Call
import okhttp3.Callback
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Protocol
import okhttp3.Request
import okhttp3.Response
import okhttp3.ResponseBody
import okhttp3.ResponseBody.Companion.asResponseBody
import okhttp3.ResponseBody.Companion.toResponseBody
import okhttp3.WebSocket
import okhttp3.WebSocketListener
import okio.Buffer
import okio.ByteString
import okio.Source
import okio.Timeout
import okio.buffer
import tradinggraph.Device
import tradinggraph.KeyStorage
import tradinggraph.field
import tradinggraph.jsonOf
import tradinggraph.text

/** A device whose network, clocks and disk the test controls. A run of the app that was killed has no effect any more. */
class FakeNetwork(val time: VirtualTime) {
  var server: Server? = null
  var reach = "there"
  var handshake = "opens"
  var tried = 0
  var deviceAheadMs = 0L
  var store = "works"
  val texts = mutableMapOf<String, String>()
  var run = 0
    private set
  private val streams = mutableListOf<Stream>()
  private val idle = OkHttpClient()
  val serverMs get() = STARTED_AT + time.uptimeMs

  interface Server {
    fun asked(request: FakeRequest)

    fun subscribed(subscription: FakeSubscription)

    fun refuses(token: String): Boolean
  }

  init {
    time.isBusy = { streams.any { !it.isAtRest } }
  }

  inner class FakeDevice : Device {
    override val network = MutableStateFlow<Long?>(1)
    override val isVisible = MutableStateFlow(true)

    // A device is never new.
    override fun uptimeMillis() = time.uptimeMs + 100_000_000

    override fun wallMillis() = serverMs + deviceAheadMs
  }

  val device = FakeDevice()

  fun kill() {
    run += 1
    time.clear()
  }

  fun storage() = object : KeyStorage {
    private val own = run

    override suspend fun read() = step { texts.toMap() }

    override suspend fun write(name: String, text: String?) = step {
      if (text == null) texts.remove(name) else texts[name] = text
      Unit
    }

    private suspend fun <T> step(task: () -> T): T {
      if (store == "silence" || own != run) awaitCancellation()
      if (store == "refuses") throw IOException("The storage is full.")
      return task()
    }
  }

  fun calls(): Call.Factory {
    val own = run
    return Call.Factory { FakeCall(it, own) }
  }

  fun sockets(): WebSocket.Factory {
    val own = run
    return WebSocket.Factory { request, listener -> FakeSocket(request, listener, own) }
  }

  private fun soon(own: Int, task: () -> Unit) = time.dispatch(time) { if (own == run) task() }

  private inner class FakeCall(private val sent: Request, private val own: Int) : Call by idle.newCall(sent) {
    private var request: FakeRequest? = null
    private var isCancelled = false

    override fun enqueue(responseCallback: Callback) {
      val asked = FakeRequest(this, sent, responseCallback, own)
      request = asked
      soon(own) {
        when (reach) {
          "dead" -> {}
          "portal" -> asked.text("<html>Sign in</html>", 401)
          "gone" -> asked.lose()
          else -> server?.asked(asked)
        }
      }
    }

    override fun cancel() {
      isCancelled = true
      request?.lose()
    }

    override fun isCanceled() = isCancelled
  }

  /** A request of the client that waits for its answer. */
  inner class FakeRequest(private val call: Call, private val sent: Request, private val callback: Callback, private val own: Int) {
    private val body: JsonObject = Buffer().also { sent.body!!.writeTo(it) }.readUtf8().let { Json.parseToJsonElement(it).jsonObject }
    val query = body.text("query")!!
    val variables = body.field("variables") as? JsonObject ?: JsonObject(emptyMap())
    val token = sent.header("authorization")?.removePrefix("Bearer ") ?: ""
    var isOver = false
      private set
    private var stream: Stream? = null

    fun answer(data: JsonElement?, errors: JsonElement? = null) = text(jsonOf("data" to data, "errors" to errors).toString())

    fun text(text: String, status: Int = 200) = respond(text.toResponseBody("application/json".toMediaType()), status)

    fun part(part: JsonObject) {
      val opened = stream ?: Stream().also { own ->
        stream = own
        streams.add(own)
        own.write("---")
        val body = own.buffer().asResponseBody("multipart/mixed; boundary=\"-\"".toMediaType())
        isOver = true
        thread(isDaemon = true) { callback.onResponse(call, response(body, 200)) }
      }
      opened.write("\r\ncontent-type: application/json\r\n\r\n$part\r\n---")
      if (part.field("hasNext").toString() == "false") opened.write("--\r\n")
    }

    fun lose() {
      stream?.end()
      if (isOver) return
      isOver = true
      soon(own) { callback.onFailure(call, IOException("lost")) }
    }

    private fun respond(body: ResponseBody, status: Int) {
      if (isOver) return
      isOver = true
      val response = response(body, status)
      soon(own) { callback.onResponse(call, response) }
    }

    private fun response(body: ResponseBody, status: Int): Response {
      val date = DateTimeFormatter.RFC_1123_DATE_TIME.format(Instant.ofEpochMilli(serverMs).atOffset(ZoneOffset.UTC))
      return Response.Builder().request(sent).protocol(Protocol.HTTP_1_1).code(status).message("").body(body)
        .header("date", date.replace("+0000", "GMT")).header("x-request-id", "fake").build()
    }
  }

  /** A body whose pieces arrive when the test sends them. */
  private class Stream : Source {
    private val pieces = LinkedBlockingQueue<String>()

    @Volatile
    private var isReading = false

    @Volatile
    private var isOver = false

    val isAtRest get() = isOver || (isReading && pieces.isEmpty())

    fun write(text: String) = pieces.put(text)

    fun end() = pieces.put("")

    override fun read(sink: Buffer, byteCount: Long): Long {
      isReading = true
      val text = pieces.take()
      isReading = false
      if (text.isEmpty()) throw IOException("lost")
      sink.writeUtf8(text)
      return text.length.toLong()
    }

    override fun timeout() = Timeout.NONE

    override fun close() {
      isOver = true
    }
  }

  /** The server's side of a subscription. */
  class FakeSubscription(
    val token: String,
    val query: String,
    val variables: JsonObject,
    val next: (JsonObject) -> Unit,
    val end: (JsonElement?) -> Unit,
    val cut: (Int?) -> Unit,
  )

  private inner class FakeSocket(private val sent: Request, private val listener: WebSocketListener, private val own: Int) : WebSocket {
    private var isOver = false
    private var token = ""

    init {
      tried += 1
      val (reached, shaken) = reach to handshake
      soon(own) {
        when {
          isOver || reached == "dead" || shaken == "silence" -> {}
          reached != "there" -> fail(null)
          shaken == "opens" -> listener.onOpen(this, response(101))
          else -> fail(response(shaken.toInt()))
        }
      }
    }

    override fun send(text: String): Boolean {
      if (isOver || own != run || reach == "dead") return true
      val message = Json.parseToJsonElement(text).jsonObject
      when (message.text("type")) {
        "connection_init" -> {
          token = message.field("payload").text("authorization")!!.removePrefix("Bearer ")
          if (server!!.refuses(token)) soon(own) { cut(4403) } else receive(jsonOf("type" to "connection_ack"))
        }
        "ping" -> receive(jsonOf("type" to "pong"))
        "subscribe" -> subscribe(message)
      }
      return true
    }

    private fun subscribe(message: JsonObject) {
      val payload = message.field("payload")
      val subscription = FakeSubscription(
        token, payload.text("query")!!, payload.field("variables") as JsonObject,
        next = { receive(jsonOf("type" to "next", "id" to "1", "payload" to it)) },
        end = { receive(jsonOf("type" to if (it == null) "complete" else "error", "id" to "1", "payload" to it)) },
        cut = ::cut,
      )
      server!!.subscribed(subscription)
    }

    private fun receive(message: JsonObject) {
      if (reach == "there") soon(own) { if (!isOver) listener.onMessage(this, message.toString()) }
    }

    private fun cut(code: Int?) {
      if (isOver) return
      if (code == null || code == ABNORMAL) fail(null) else soon(own) { listener.onClosing(this, code, "") }
    }

    private fun fail(response: Response?) {
      isOver = true
      soon(own) { listener.onFailure(this, IOException("cut"), response) }
    }

    private fun response(status: Int) =
      Response.Builder().request(sent).protocol(Protocol.HTTP_1_1).code(status).message("").build()

    override fun cancel() {
      isOver = true
    }

    override fun close(code: Int, reason: String?): Boolean {
      isOver = true
      return true
    }

    override fun request() = sent

    override fun queueSize() = 0L

    override fun send(bytes: ByteString) = error("The client sends texts.")
  }

  private companion object {
    val STARTED_AT = Instant.parse("2026-11-20T09:30:00Z").toEpochMilli()
    const val ABNORMAL = 1006
  }
}
