// Ends what deepoj/begin.h began: behind it C++ is what it was.
#undef catch
#undef try
#undef stoull
#undef stoll
