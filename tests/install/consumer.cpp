#include <iostream>

#include <tutti/version.hpp>

int main() { std::cout << "tutti " << tutti::version << '\n'; }
