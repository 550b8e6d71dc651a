print("map")
