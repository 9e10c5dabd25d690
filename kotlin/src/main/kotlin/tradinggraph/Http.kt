package tradinggraph

import java.io.IOException
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.*
import okhttp3.*
import okhttp3.MediaType.Companion.toMediaType
import okio.BufferedSink

private const val MAX_BYTES = 64L * 1024 * 1024
private const val ACCEPT = "application/graphql-response+json, application/json;q=0.9"
private const val PARTS = "multipart/mixed;deferSpec=20220824"

/** The answer to an operation: what failed is in [errors], the rest in [data]. */
public data class Answer(val data: JsonObject?, val errors: List<TradingGraphException>)

/** Sends requests over HTTP. */
internal class Http(private val platform: Platform, private val url: String, private val device: Device, private val clock: ServerClock) {
  /** Whether a request stayed without an answer, so that its connection may be dead. */
  private var isSuspect = false

  /** The answer, or with [inParts] each state of it. Fails with a [TradingGraphException]. */
  fun answers(body: JsonObject, token: String?, inParts: Boolean): Flow<Answer> = callbackFlow {
    if (isSuspect) platform.evict()
    isSuspect = false
    val request = Request.Builder().url(url).post(OneShot(body.toString()))
      .header("accept", if (inParts) "$PARTS, $ACCEPT" else ACCEPT)
    if (token != null) request.header("authorization", "Bearer $token")
    val call = platform.calls.newCall(request.build())
    val sentAt = device.uptimeMillis()
    var hasBegun = false
    call.enqueue(object : Callback {
      override fun onFailure(call: Call, e: IOException) {
        hasBegun = true
        close(networkError("The server cannot be reached: ${e.message}", e))
      }

      override fun onResponse(call: Call, response: Response) {
        hasBegun = true
        noteDate(response, sentAt)
        try {
          response.use { read(it) { answer -> trySendBlocking(answer) } }
          close()
        } catch (thrown: IOException) {
          onFailure(call, thrown)
        }
      }
    })
    awaitClose {
      if (!hasBegun) isSuspect = true
      call.cancel()
    }
  }

  /** Each answer of this server has a request id, which those of portals lack. A cache's answer has an `age`. */
  private fun noteDate(response: Response, sentAt: Long) {
    val isOwn = response.header("x-request-id") != null && (response.header("age") ?: "0") == "0"
    val date = response.headers.getDate("date")
    if (isOwn && date != null) clock.note(date.time, sentAt, device.uptimeMillis())
  }

  private fun read(response: Response, answered: (Answer) -> Unit) {
    if (response.body.contentType()?.type != "multipart") {
      val source = response.body.source()
      if (source.request(MAX_BYTES)) throw IOException("the answer has more than $MAX_BYTES bytes")
      return answered(answerOf(parseJson(source.buffer.readUtf8()), response))
    }
    val reader = MultipartReader(response.body)
    var whole = NOTHING
    do {
      val part = parseJson(reader.nextPart()?.body?.readUtf8() ?: return)
      for (piece in listOf(part) + part.list("incremental")) whole = whole.withPart(piece)
      answered(answerOf(whole, response))
    } while (part.boolean("hasNext") == true)
  }

  private fun answerOf(body: JsonElement?, response: Response): Answer {
    val data = body.field("data") as? JsonObject
    val headers = jsonOf("requestId" to response.header("x-request-id"), "retryAfter" to response.header("retry-after")?.toIntOrNull())
    if (data != null || body.field("errors") is JsonArray) return Answer(data, body.list("errors").map { serverError(it, headers) })
    // The service answers with GraphQL alone. What a proxy or a portal sends says nothing about the token.
    return Answer(null, listOf(networkError("The answer is not GraphQL (HTTP ${response.code}): is $url its endpoint?")))
  }

  /** OkHttp sends no such body twice, as it otherwise would after 408 and 503. */
  private class OneShot(private val text: String) : RequestBody() {
    override fun contentType() = "application/json".toMediaType()

    override fun isOneShot() = true

    override fun writeTo(sink: BufferedSink) {
      sink.writeUtf8(text)
    }
  }
}

/** Adds a part of an answer with `@defer`: its fields at its path, and its errors. */
private fun JsonObject.withPart(part: JsonElement?): JsonObject {
  val data = (field("data") ?: NOTHING).with(part.list("path"), part.field("data") ?: NOTHING)
  return jsonOf("data" to data, "errors" to JsonArray(list("errors") + part.list("errors")))
}

private fun JsonElement.with(path: List<JsonElement>, more: JsonElement): JsonElement {
  val step = path.firstOrNull() ?: return merged(this, more)
  val inner = { value: JsonElement -> value.with(path.drop(1), more) }
  return when (this) {
    is JsonObject -> JsonObject(mapValues { (name, value) -> if (JsonPrimitive(name) == step) inner(value) else value })
    is JsonArray -> JsonArray(mapIndexed { index, value -> if (JsonPrimitive(index) == step) inner(value) else value })
    else -> this
  }
}

private fun merged(known: JsonElement?, more: JsonElement): JsonElement = when {
  known is JsonObject && more is JsonObject -> JsonObject(known + more.mapValues { (name, value) -> merged(known[name], value) })
  known is JsonArray && more is JsonArray ->
    JsonArray(List(maxOf(known.size, more.size)) { if (it < more.size) merged(known.getOrNull(it), more[it]) else known[it] })
  else -> more
}
