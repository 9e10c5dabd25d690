// swift-tools-version:6.1
// Never built: no Swift runs where this project is tested.
import PackageDescription

let package = Package(
  name: "TradingGraph",
  platforms: [.iOS(.v17)],
  products: [.library(name: "TradingGraph", targets: ["TradingGraph"])],
  dependencies: [.package(url: "https://github.com/apollographql/apollo-ios", exact: "2.4.0")],
  targets: [
    .target(
      name: "TradingGraph",
      dependencies: [.product(name: "Apollo", package: "apollo-ios"), .product(name: "ApolloAPI", package: "apollo-ios")]
    )
  ]
)
