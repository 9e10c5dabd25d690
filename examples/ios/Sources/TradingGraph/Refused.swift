// Never compiled: no Swift runs where this project is tested.
import Apollo
import Foundation

/// The first error of an answer: the server says what it is, and whether the same request may succeed later.
public struct Refused: Error {
  public let message: String
  public let code: String?
  public let isRetryable: Bool
  let retryAfter: Double
  /// The account has had its share of orders or keys.
  let isLimit: Bool

  init(_ error: GraphQLError) {
    let extensions = error.extensions ?? [:]
    message = error.message ?? ""
    code = extensions["code"] as? String
    isRetryable = extensions["retryable"] as? Bool ?? false
    retryAfter = (extensions["retryAfter"] as? NSNumber)?.doubleValue ?? 0
    isLimit = extensions["limit"] != nil
  }

  var isOfToken: Bool { code == "UNAUTHENTICATED" }
}

/// Nobody is signed in: show the form of the sign-in.
public struct SignedOut: Error { public let why: String }

/// There is no network: the order was not placed, and does not go out when the network is back.
public struct Offline: Error {}

extension GraphQLResponse {
  /// With `partial` a screen shows what there is; else each field counts.
  func dataOrThrow(partial: Bool = false) throws -> Operation.Data {
    let refusals = (errors ?? []).map(Refused.init)
    if let ended = refusals.first(where: \.isOfToken) { throw ended }
    if let data, refusals.isEmpty || partial { return data }
    if let refusal = refusals.first { throw refusal }
    throw URLError(.cannotParseResponse)
  }
}

/// 1, 2, 4 … seconds, and with jitter.
func pause(_ failures: Int, longest: Double) -> Double {
  let ceiling = min(longest, pow(2, Double(min(failures, 10))))
  return Double.random(in: ceiling / 2 ..< ceiling)
}
