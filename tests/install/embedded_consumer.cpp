unsigned ranks_of_two_threads();

int main() { return ranks_of_two_threads() == 2 ? 0 : 1; }
