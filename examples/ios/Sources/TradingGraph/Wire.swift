// Never compiled: no Swift runs where this project is tested.
import Apollo
import ApolloAPI
import Foundation

/// A request as a crash report keeps it: the server's log has the same id.
public struct Breadcrumb: Sendable {
  public let operation: String
  public let requestId: String
  public let status: Int
}

/// The server's time by the last `Date` and the time since, which nobody sets; some two seconds behind at most.
actor ServerClock {
  private var heard: (date: Date, at: ContinuousClock.Instant)?

  var now: Date? {
    guard let heard else { return nil }
    return heard.date.addingTimeInterval(Double((ContinuousClock.now - heard.at).components.seconds))
  }

  func hear(_ date: String) {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    if let date = format.date(from: date) { heard = (date, .now) }
  }
}

/// The headers of each request, and what its answer's tell.
struct Wire: HTTPInterceptor {
  @TaskLocal static var token: String?
  let operation: String
  let clock: ServerClock
  let onAnswer: @Sendable (Breadcrumb) -> Void

  func intercept(request: URLRequest, next: NextHTTPInterceptorFunction) async throws -> HTTPResponse {
    var request = request
    let requestId = UUID().uuidString
    request.setValue(requestId, forHTTPHeaderField: "x-request-id")
    if let token = Wire.token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    let answer = try await next(request)
    if let date = answer.response.value(forHTTPHeaderField: "Date") { await clock.hear(date) }
    onAnswer(Breadcrumb(operation: operation, requestId: requestId, status: answer.response.statusCode))
    return answer
  }
}

/// Apollo's own check of the status is left out: what a refusal says is in its body.
struct WireOnly: InterceptorProvider {
  let clock: ServerClock
  let onAnswer: @Sendable (Breadcrumb) -> Void

  func httpInterceptors<Operation: GraphQLOperation>(for operation: Operation) -> [any HTTPInterceptor] {
    [Wire(operation: Operation.operationName, clock: clock, onAnswer: onAnswer)]
  }
}
