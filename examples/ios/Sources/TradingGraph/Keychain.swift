// Never compiled: no Swift runs where this project is tested.
import Foundation
import Security

/// The account that is signed in, in the Keychain: read while the phone is locked too, and carried to no other phone by a backup.
struct Account: Codable {
  let email: String
  let token: String
}

enum Keychain {
  private static var item: [CFString: Any] { [kSecClass: kSecClassGenericPassword, kSecAttrService: "trading-graph"] }

  static func read() -> Account? {
    var found: CFTypeRef?
    let query = item.merging([kSecReturnData: true]) { _, new in new }
    guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let data = found as? Data else { return nil }
    return try? JSONDecoder().decode(Account.self, from: data)
  }

  static func write(_ account: Account) throws {
    delete()
    let added: [CFString: Any] = [
      kSecValueData: try JSONEncoder().encode(account),
      kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    let status = SecItemAdd(item.merging(added) { _, new in new } as CFDictionary, nil)
    if status != errSecSuccess { throw NSError(domain: NSOSStatusErrorDomain, code: Int(status)) }
  }

  static func delete() { SecItemDelete(item as CFDictionary) }
}
