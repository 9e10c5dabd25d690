// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.exception.ApolloException
import com.apollographql.apollo.exception.ApolloWebSocketClosedException
import com.example.api.AccountSubscription
import com.example.api.fragment.Figures
import com.example.api.fragment.OrderRow
import com.example.api.fragment.PositionRow
import com.example.api.type.FeedStatus
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.FlowPreview
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.timeout
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.withTimeoutOrNull

/** The account from a snapshot, and then from what changed. */
data class AccountState(
  val positions: Map<String, PositionRow> = emptyMap(),
  val orders: Map<String, OrderRow> = emptyMap(),
  val figures: Figures? = null,
  /** Null while there is no connection. */
  val status: FeedStatus? = null,
  /** Shown beside the list whenever the status is not `LIVE`. */
  val asOf: String? = null,
) {
  fun fold(event: AccountSubscription.AccountChanges): AccountState {
    val known = if (event.snapshot) AccountState(figures = figures) else this
    return AccountState(
      positions = known.positions - event.positions.closed.toSet() +
        event.positions.upserted.map { it.positionRow }.associateBy { it.id } +
        event.positions.ticks.mapNotNull { known.positions[it.id]?.copy(profit = it.profit) }.associateBy { it.id },
      orders = known.orders - event.orders?.closed.orEmpty().toSet() +
        event.orders?.upserted.orEmpty().map { it.orderRow }.associateBy { it.id },
      figures = event.session?.figures ?: known.figures,
      status = event.status,
      asOf = event.asOf,
    )
  }
}

class LiveAccount(private val session: Session) {
  private val shown = MutableStateFlow(AccountState())
  val state: StateFlow<AccountState> = shown.asStateFlow()
  private val back = Channel<Unit>(Channel.CONFLATED)
  @Volatile
  private var email: String? = null
  private var cursor: String? = null

  /** Follows until nobody is signed in, or the server says that it is no use to ask again: then it throws. */
  @OptIn(FlowPreview::class)
  suspend fun follow() {
    var refused: String? = null
    var failures = 0
    while (true) {
      var token: String? = null
      var isRefused = false
      var leastMs = 0L
      try {
        val account = session.account(refused)
        token = account.token
        begin(account.email)
        session.client.subscription(AccountSubscription(after = Optional.presentIfNotNull(cursor))).toFlow()
          // The heartbeat and ten seconds without an event: then the line is dead, though nobody says so.
          .timeout(25.seconds)
          .collect { answer ->
            val event = answer.dataOrRefused(partial = true).accountChanges
            shown.update { it.fold(event) }
            cursor = event.cursor
            failures = 0
            refused = null
          }
      } catch (silent: TimeoutCancellationException) {
        networkIsBack()
      } catch (failure: ApolloException) {
        isRefused = failure is ApolloWebSocketClosedException && failure.code in TOKEN_REFUSED
      } catch (refusal: Refused) {
        isRefused = refusal.isOfToken
        if (!isRefused && !refusal.isRetryable) throw refusal
        leastMs = refusal.retryAfterMs
      }
      if (isRefused && token != null) {
        if (refused != null) throw session.giveUp(token)
        refused = token
        back.trySend(Unit)
      }
      // A renewed token may end while the next line is waited for.
      if (token != null && token != refused) refused = null
      shown.update { it.copy(status = null) }
      withTimeoutOrNull(leastMs + pauseMs(failures, 30_000)) { back.receive() }
      failures += 1
    }
  }

  /** Called where the platform knows of a network that is back, or another: the old line is left to die. */
  fun networkIsBack() {
    back.trySend(Unit)
    session.dropLine("another line")
  }

  /** Called where somebody has signed in or out. The socket, which Apollo keeps for a minute, would be the next user's. */
  fun accountChanged() {
    begin(null)
    networkIsBack()
  }

  /** Nothing of another account is shown, nor gone on from. */
  private fun begin(next: String?) {
    if (next == email) return
    email = next
    cursor = null
    shown.value = AccountState()
  }

  private companion object {
    val TOKEN_REFUSED = setOf(4401, 4403)
  }
}
