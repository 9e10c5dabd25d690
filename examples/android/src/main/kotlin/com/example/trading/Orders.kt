// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import android.content.Context
import android.util.AtomicFile
import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.exception.ApolloException
import com.example.api.PlaceMutation
import com.example.api.VoidMutation
import com.example.api.fragment.Outcome
import com.example.api.type.OrderSize
import com.example.api.type.PlaceOrderInput
import com.example.api.type.PlaceOrderKind
import com.example.api.type.Side
import com.example.api.type.UnsentReason
import java.io.File
import java.time.Instant
import java.util.UUID
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import org.json.JSONObject

/** The reasons that speak of each request with the key; there may be others one day. */
private val SURE = setOf(UnsentReason.VOIDED, UnsentReason.SETTLED)

/** Orders, each kept on disk under its key from before it is sent until its outcome is known. */
class Orders(
  private val session: Session,
  private val network: NetworkState,
  private val scope: CoroutineScope,
  context: Context,
) {
  private class Kept(val account: String, val key: String, val since: String)

  private val folder = File(context.filesDir, "orders").apply { mkdirs() }

  /** One call for a tap. Null: the server's records do not reach back to it, so nobody knows. */
  suspend fun place(symbol: String, side: Side, units: Double): Outcome? {
    if (!network.isOnline) throw Offline()
    val account = session.account(null)
    val since = session.serverTime()
    val before = since.plusSeconds(30)
    val kept = Kept(account.email, UUID.randomUUID().toString(), since.toString())
    val input = PlaceOrderInput(
      symbol = symbol, side = side, kind = Optional.present(PlaceOrderKind.MARKET), size = OrderSize(units = Optional.present(units)),
      idempotencyKey = kept.key, sendBefore = Optional.present(before.toString()),
      keyMade = Optional.present(kept.since))
    keep(kept)
    // The order runs to its end, whatever the screen does.
    return scope.async { settle(kept, input, before) }.await()
  }

  /**
   * At the start of the app and after a sign-in: ends the doubt about orders of an earlier run, which are not sent again.
   * What is refused is asked about by the next start.
   */
  suspend fun resume(): List<Outcome?> {
    val outcomes = mutableListOf<Outcome?>()
    for (file in folder.listFiles { file -> file.extension == "json" }.orEmpty()) {
      val json = JSONObject(file.readText())
      val kept = Kept(json.getString("account"), json.getString("key"), json.getString("since"))
      // A key is one account's: for another it would be unused, and the answer that nothing was sent.
      if (kept.account != session.account?.email) continue
      try {
        outcomes += close(kept)
      } catch (refused: Refused) {
        continue
      }
    }
    return outcomes
  }

  /** Sends it, and again under its key, for as long as it is meant; then its key is closed. */
  private suspend fun settle(kept: Kept, input: PlaceOrderInput, before: Instant): Outcome? {
    var refusal: Refused? = null
    var failures = 0
    while (session.serverTime() < before) {
      var leastMs = 0L
      try {
        val outcome = session.ask(session.client.mutation(PlaceMutation(input)), email = kept.account).placeOrder?.outcome
        // That says nothing of earlier requests, such as one that somebody on the way has sent twice: closing the key does.
        if (outcome?.onOrderRejected?.sent == false) break
        if (outcome != null) return end(kept, outcome)
      } catch (lost: ApolloException) {
        // No answer: it was sent or not.
        refusal = null
      } catch (refused: Refused) {
        refusal = refused
        if (!refused.isRetryable) break
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
    val outcome = close(kept)
    // Surely not placed: the reason is the server's.
    if (refusal != null && outcome?.onOrderRejected?.sent == false) throw refusal
    return outcome
  }

  /** Ends the doubt: its outcome where it was placed, else it never is. */
  private suspend fun close(kept: Kept): Outcome? {
    var failures = 0
    while (true) {
      var leastMs = 0L
      try {
        val outcome = voided(kept.key, kept)
        // A repeat is refused so also where the first request is forgotten: a key of the same age tells whether the records reach back.
        val rejected = outcome?.onOrderRejected
        if (rejected?.sent == false && rejected.reason !in SURE) voided(UUID.randomUUID().toString(), kept)
        if (outcome != null) return end(kept, outcome)
      } catch (lost: ApolloException) {
        // Nobody was asked: again after a pause.
      } catch (refused: Refused) {
        if (refused.code == "IDEMPOTENCY_UNAVAILABLE" && !refused.isRetryable && !refused.isLimit) {
          file(kept).delete()
          return null
        }
        if (!refused.isRetryable) throw refused
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
  }

  private suspend fun voided(key: String, kept: Kept): Outcome? =
    session.ask(session.client.mutation(VoidMutation(key, Optional.present(kept.since))), email = kept.account).voidOrder?.outcome

  /** The next run asks again for one that is unknown. */
  private fun end(kept: Kept, outcome: Outcome): Outcome {
    if (outcome.onOrderOutcomeUnknown == null) file(kept).delete()
    return outcome
  }

  /** On the disk when this returns, whole or not at all. */
  private fun keep(kept: Kept) {
    val json = JSONObject().put("account", kept.account).put("key", kept.key).put("since", kept.since)
    val file = AtomicFile(file(kept))
    val stream = file.startWrite()
    stream.write(json.toString().toByteArray())
    file.finishWrite(stream)
  }

  private fun file(kept: Kept) = File(folder, "${kept.key}.json")
}
